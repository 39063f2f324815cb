import Config

# Nothing is logged for a request.
config :logger, level: :warning
