defmodule Server.Application do
  @moduledoc "The {{id}} stack."

  use Application

  @impl true
  def start(_type, _args) do
    host = System.fetch_env!("HOST")
    port = System.fetch_env!("PORT")

    children = [
      {Task.Supervisor, name: Server.Connections},
      {Server.Listener, host: host, port: String.to_integer(port)}
    ]

    Supervisor.start_link(children, strategy: :one_for_one)
  end
end
