using System.Text.Json;
using System.Text.Json.Serialization;
using Deadheat.AspNetCore.Endpoints;
using Deadheat.AspNetCore.Items;
using Deadheat.AspNetCore.Users;
using Deadheat.AspNetCore.Worlds;

namespace Deadheat.AspNetCore;

/// <summary>The serialisers, generated at compile time.</summary>
[JsonSourceGenerationOptions(JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(Person[]))]
[JsonSerializable(typeof(List<User>))]
[JsonSerializable(typeof(List<Item>))]
[JsonSerializable(typeof(ItemDraft))]
[JsonSerializable(typeof(Product[]))]
[JsonSerializable(typeof(Greeting))]
[JsonSerializable(typeof(List<World>))]
internal sealed partial class JsonContext : JsonSerializerContext;

internal static class Json
{
    public static void AddJson(this IServiceCollection services) =>
        services.ConfigureHttpJsonOptions(options =>
        {
            options.SerializerOptions.TypeInfoResolverChain.Insert(0, JsonContext.Default);
            // A null where the type has none is a bad request.
            options.SerializerOptions.RespectNullableAnnotations = true;
        });
}
