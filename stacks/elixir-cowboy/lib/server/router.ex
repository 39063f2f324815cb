defmodule Server.Router do
  @moduledoc "Which path is answered by whom. Other paths are answered with 404 by Cowboy."

  alias Server.{Handlers, Item, Settings}

  alias Server.Handlers.{
    Bytes,
    Fortunes,
    Items,
    Payload,
    People,
    PingPong,
    Plaintext,
    Products,
    Proxy,
    Upload,
    Users
  }

  @spec dispatch(Settings.t()) :: :cowboy_router.dispatch_rules()
  def dispatch(%Settings{} = settings) do
    :cowboy_router.compile([
      {:_,
       [
         {"/plaintext", Plaintext, %{methods: ["GET"]}},
         {"/json", People, %{methods: ["GET", "POST"]}},
         {"/static/[...]", :cowboy_static, {:dir, settings.static_dir}},
         {"/products", Products, %{methods: ["GET"]}},
         {"/upload", Upload, %{methods: ["POST"]}},
         {"/payload", Payload, %{methods: ["GET"]}},
         {"/ping-pong", PingPong, %{methods: ["GET"]}},
         {"/bytes", Bytes, %{methods: ["GET"], blob_path: settings.blob_path}},
         {"/users", Users, %{methods: ["GET"]}},
         {"/fortunes", Fortunes, %{methods: ["GET"]}},
         {"/items", Items, %{methods: ["GET", "POST"]}},
         {"/items/:id", [{:id, &Item.id/2}], Handlers.Item, %{methods: ["GET", "PUT", "DELETE"]}},
         {"/proxy", Proxy, %{methods: ["GET"]}}
       ]}
    ])
  end
end
