import Config

config :server, ecto_repos: [Server.Repo]

config :server, ServerWeb.Endpoint,
  adapter: Bandit.PhoenixAdapter,
  render_errors: [formats: [json: ServerWeb.ErrorJSON], layout: false]

config :phoenix, :json_library, Jason

# No request is logged, nor is any query.
config :phoenix, :logger, false
config :server, Server.Repo, log: false
config :logger, level: :warning, compile_time_purge_matching: [[level_lower_than: :warning]]
