package deadheat.ktor

import java.nio.file.Path
import java.security.KeyFactory
import java.security.KeyStore
import java.security.cert.CertificateFactory
import java.security.spec.PKCS8EncodedKeySpec
import java.util.Base64
import kotlin.io.path.inputStream
import kotlin.io.path.readText

const val KEY_ALIAS = "server"

private val PEM_FRAME = Regex("-----[A-Z ]+-----")

/** A key store in memory, without a password: Ktor takes nothing else. */
fun keyStore(tls: Settings.Tls): KeyStore {
    val chain =
        tls.certificate
            .inputStream()
            .use { CertificateFactory.getInstance("X.509").generateCertificates(it) }
            .toTypedArray()
    val key = KeyFactory.getInstance(chain.first().publicKey.algorithm).generatePrivate(keySpec(tls.key))
    return KeyStore.getInstance("PKCS12").apply {
        load(null, null)
        setKeyEntry(KEY_ALIAS, key, charArrayOf(), chain)
    }
}

private fun keySpec(pem: Path): PKCS8EncodedKeySpec {
    val base64 = pem.readText().replace(PEM_FRAME, "")
    return PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(base64))
}
