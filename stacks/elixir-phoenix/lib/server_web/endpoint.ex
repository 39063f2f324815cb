defmodule ServerWeb.Endpoint do
  use Phoenix.Endpoint, otp_app: :server

  plug Plug.Telemetry, event_prefix: [:phoenix, :endpoint]
  plug Plug.Static, at: "/static", from: {__MODULE__, :static_dir, []}

  plug Plug.Parsers,
    parsers: [:json],
    pass: ["*/*"],
    length: 1_048_576,
    json_decoder: Phoenix.json_library()

  plug Plug.Head
  plug ServerWeb.Router

  @doc "The folder of the static files, which is known when the server runs."
  def static_dir, do: Application.fetch_env!(:server, :static_dir)
end
