import Config

positive_integer = fn name, default ->
  text = System.get_env(name, default)

  case Integer.parse(text) do
    {number, ""} when number > 0 -> number
    _ -> raise "#{name} is not a positive integer: #{text}"
  end
end

host = System.get_env("HOST", "127.0.0.1")

{:ok, address} =
  host
  |> String.to_charlist()
  |> :inet.parse_address()

thousand_island_options = [
  # Longer than clients and load balancers usually keep a connection.
  read_timeout: 65_000,
  # After SIGTERM the acceptors end one after the other, and each gives its connections so long: a second in all,
  # where the defaults of 100 acceptors and 15 s could take minutes.
  num_acceptors: 10,
  shutdown_timeout: 100,
  transport_options: [backlog: 4096, nodelay: true]
]

config :server, ServerWeb.Endpoint,
  server: true,
  url: [host: host],
  http: [
    ip: address,
    port: positive_integer.("PORT", "8080"),
    thousand_island_options: thousand_island_options
  ]

if System.get_env("TLS_PORT") do
  config :server, ServerWeb.Endpoint,
    https: [
      ip: address,
      port: positive_integer.("TLS_PORT", ""),
      certfile: System.fetch_env!("TLS_CERT"),
      keyfile: System.fetch_env!("TLS_KEY"),
      thousand_island_options: thousand_island_options
    ]
end

if System.get_env("H2C_PORT") do
  config :server, :h2c,
    ip: address,
    port: positive_integer.("H2C_PORT", ""),
    thousand_island_options: thousand_island_options
end

config :server,
  blob_path: System.get_env("BLOB_PATH"),
  static_dir: System.get_env("STATIC_DIR", "static")

if url = System.get_env("DATABASE_URL") do
  config :server, Server.Repo,
    url: url,
    pool_size: positive_integer.("POOL_SIZE", "16"),
    # By default requests are turned away once they wait 50 ms for a connection, then 100 ms, and so on. Here they wait
    # as long as their clients do.
    queue_target: 30_000,
    queue_interval: 30_000,
    # By default a connection is pinged after each second without a statement.
    idle_interval: :timer.hours(1)
end

if url = System.get_env("UPSTREAM_URL") do
  config :server, Server.Upstream, url: url
end
