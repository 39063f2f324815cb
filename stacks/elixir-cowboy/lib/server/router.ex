defmodule Server.Router do
  @moduledoc "Which path is answered by whom. Other paths are answered with 404 by Cowboy."

  alias Server.Settings
  alias Server.Handlers.{Bytes, Fortunes, Payload, People, PingPong, Plaintext, Proxy, Users}

  @spec dispatch(Settings.t()) :: :cowboy_router.dispatch_rules()
  def dispatch(%Settings{} = settings) do
    :cowboy_router.compile([
      {:_,
       [
         {"/plaintext", Plaintext, %{methods: ["GET"]}},
         {"/json", People, %{methods: ["GET", "POST"]}},
         {"/payload", Payload, %{methods: ["GET"]}},
         {"/ping-pong", PingPong, %{methods: ["GET"]}},
         {"/bytes", Bytes, %{methods: ["GET"], blob_path: settings.blob_path}},
         {"/users", Users, %{methods: ["GET"]}},
         {"/fortunes", Fortunes, %{methods: ["GET"]}},
         {"/proxy", Proxy, %{methods: ["GET"]}}
       ]}
    ])
  end
end
