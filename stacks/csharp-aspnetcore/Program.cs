using Deadheat.AspNetCore;
using Deadheat.AspNetCore.Database;
using Deadheat.AspNetCore.Endpoints;
using Deadheat.AspNetCore.Payload;
using Deadheat.AspNetCore.Upstream;

var builder = WebApplication.CreateSlimBuilder(args);
var settings = builder.Configuration.Get<Settings>() ?? new Settings();

builder.Logging.SetMinimumLevel(LogLevel.Warning);
builder.WebHost.ListenOn(settings);

builder.Services.AddSingleton(settings);
builder.Services.AddProblemDetails();
builder.Services.AddJson();
builder.Services.AddValidation();
builder.Services.AddPayloadWorker();
builder.Services.AddUpstream(settings);
builder.Services.AddDatabase(settings);
builder.Services.AddRazorComponents();
builder.Services.AddResponseCompression(options => options.EnableForHttps = true);
// Requests under way get this long after SIGTERM; connections that idle are closed at once.
builder.Services.Configure<HostOptions>(options => options.ShutdownTimeout = TimeSpan.FromMilliseconds(700));

var app = builder.Build();

// A body that is too long or breaks off is the client's failure: its own status, and no log.
app.UseExceptionHandler(new ExceptionHandlerOptions
{
    StatusCodeSelector = error => error is BadHttpRequestException refused ? refused.StatusCode : 500,
    SuppressDiagnosticsCallback = context => context.Exception is BadHttpRequestException,
});
app.UseStatusCodePages();
app.UseStaticFolder(settings);
// Of this route alone.
app.UseWhen(
    context => context.Request.Path == ProductsEndpoint.Path, branch => branch.UseResponseCompression());

app.MapPlaintext();
app.MapPeople();
app.MapProducts();
app.MapUpload();
app.MapPayload();
app.MapDigest();
app.MapUsers();
app.MapFortunes();
app.MapItems();
app.MapProxy();
app.MapTechEmpower();

app.Run();
