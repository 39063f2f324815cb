defmodule Server.Application do
  @moduledoc "What runs: a database pool and an upstream if there are any, the worker of ping-pong, the listeners."

  use Application

  alias Server.{Database, Drainer, Listener, PingPong, Settings, Upstream}

  @impl true
  def start(_type, _arguments) do
    settings = Settings.from_environment()

    listeners = Listener.all(settings)

    # In this order, and ended in the opposite one: the drainer first, while all that requests need is still there.
    children =
      database(settings) ++
        upstream(settings) ++
        [PingPong] ++
        Keyword.values(listeners) ++
        [{Drainer, Keyword.keys(listeners)}]

    Supervisor.start_link(children, strategy: :one_for_one, name: Server.Supervisor)
  end

  defp database(%Settings{database_url: nil}), do: []
  defp database(%Settings{} = settings), do: [{Database, settings}]

  defp upstream(%Settings{upstream_url: nil}), do: []
  defp upstream(%Settings{upstream_url: url}), do: [{Upstream, url}]
end
