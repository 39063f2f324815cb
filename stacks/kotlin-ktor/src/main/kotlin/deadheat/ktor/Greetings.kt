package deadheat.ktor

import io.ktor.server.plugins.BadRequestException
import io.ktor.server.request.receiveNullable
import io.ktor.server.response.respond
import io.ktor.server.response.respondText
import io.ktor.server.routing.Route
import io.ktor.server.routing.get
import io.ktor.server.routing.post
import kotlinx.serialization.Serializable

@Serializable
data class Person(
    val name: String,
    val username: String,
)

/** Small answers: a text, a list of people, and a greeting for the person in the body. */
fun Route.greetings() {
    get("/plaintext") {
        call.respondText("Hello, World!")
    }
    get("/json") {
        call.respond(listOf(Person("John", "Doe")))
    }
    post("/json") {
        // An empty body and a JSON null are both no person.
        val person = call.receiveNullable<Person?>() ?: throw BadRequestException("a person is needed")
        call.respondText("Hello, ${person.name}!")
    }
}
