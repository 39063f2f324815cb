using Server;

var builder = WebApplication.CreateSlimBuilder(args);
builder.Logging.ClearProviders(); // the contract: log no request
builder.WebHost.UseUrls($"http://{Environment.GetEnvironmentVariable("HOST")}:{Environment.GetEnvironmentVariable("PORT")}");
// Requests in flight may end, but nobody waits long for them.
builder.Services.Configure<HostOptions>(options => options.ShutdownTimeout = TimeSpan.FromMilliseconds(500));

var app = builder.Build();
app.MapRoutes();
app.Run();
