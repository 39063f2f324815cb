defmodule Server.Application do
  @moduledoc false

  use Application

  @impl true
  def start(_type, _args) do
    children =
      configured([Server.Repo, Server.Upstream]) ++
        [Server.PingPong, ServerWeb.Endpoint] ++ h2c()

    Supervisor.start_link(children, strategy: :one_for_one, name: Server.Supervisor)
  end

  # Bandit speaks HTTP/2 without TLS, but the endpoint has only one port without TLS.
  defp h2c do
    case Application.get_env(:server, :h2c) do
      nil -> []
      options -> [{Bandit, [plug: ServerWeb.Endpoint, scheme: :http] ++ options}]
    end
  end

  # The server also runs without a database or an upstream.
  defp configured(children), do: Enum.filter(children, &Application.get_env(:server, &1)[:url])
end
