defmodule Server.Application do
  @moduledoc false

  use Application

  @impl true
  def start(_type, _args) do
    children = configured([Server.Repo, Server.Upstream]) ++ [Server.PingPong, ServerWeb.Endpoint]

    Supervisor.start_link(children, strategy: :one_for_one, name: Server.Supervisor)
  end

  # The server also runs without a database or an upstream.
  defp configured(children), do: Enum.filter(children, &Application.get_env(:server, &1)[:url])
end
