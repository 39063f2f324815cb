namespace Deadheat.AspNetCore.Endpoints;

public sealed record Person
{
    public required string Name { get; init; }

    public required string Username { get; init; }
}

internal static class PeopleEndpoints
{
    public static void MapPeople(this IEndpointRouteBuilder routes)
    {
        routes.MapGet("/json", () => new[] { new Person { Name = "John", Username = "Doe" } });
        routes.MapPost("/json", (Person person) => TypedResults.Text($"Hello, {person.Name}!"));
    }
}
