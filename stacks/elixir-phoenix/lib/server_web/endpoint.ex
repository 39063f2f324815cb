defmodule ServerWeb.Endpoint do
  use Phoenix.Endpoint, otp_app: :server

  plug Plug.Telemetry, event_prefix: [:phoenix, :endpoint]

  plug Plug.Parsers,
    parsers: [:json],
    pass: ["*/*"],
    length: 1_048_576,
    json_decoder: Phoenix.json_library()

  plug Plug.Head
  plug ServerWeb.Router
end
