using Deadheat.AspNetCore;
using Deadheat.AspNetCore.Endpoints;
using Deadheat.AspNetCore.Payload;
using Deadheat.AspNetCore.Upstream;
using Deadheat.AspNetCore.Users;

var builder = WebApplication.CreateSlimBuilder(args);
var settings = builder.Configuration.Get<Settings>() ?? new Settings();

builder.Logging.SetMinimumLevel(LogLevel.Warning);
builder.WebHost.ListenOn(settings);

builder.Services.AddSingleton(settings);
builder.Services.AddProblemDetails();
builder.Services.AddJson();
builder.Services.AddPayloadWorker();
builder.Services.AddUpstream(settings);
builder.Services.AddUsers(settings);
// Requests under way get this long after SIGTERM; connections that idle are closed at once.
builder.Services.Configure<HostOptions>(options => options.ShutdownTimeout = TimeSpan.FromMilliseconds(700));

var app = builder.Build();

app.UseExceptionHandler();
app.UseStatusCodePages();

app.MapPlaintext();
app.MapPeople();
app.MapPayload();
app.MapDigest();
app.MapUsers();
app.MapProxy();

app.Run();
