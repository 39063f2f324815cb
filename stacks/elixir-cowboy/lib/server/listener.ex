defmodule Server.Listener do
  @moduledoc "Cowboy on its port, as a part of this application's supervision tree."

  alias Server.{AllowedMethods, Router, Settings}

  # Longer than clients and load balancers usually keep a connection; Cowboy's own is 5 s.
  @keep_alive_ms 65_000
  @spec child_spec(Settings.t()) :: Supervisor.child_spec()
  def child_spec(%Settings{} = settings) do
    :ranch.child_spec(
      __MODULE__,
      :ranch_tcp,
      transport_options(settings),
      :cowboy_clear,
      protocol_options(settings)
    )
  end

  defp transport_options(%Settings{host: host, port: port}) do
    %{
      socket_opts: [ip: host, port: port, backlog: 4096, nodelay: true],
      max_connections: :infinity,
      connection_type: :supervisor,
      # The drainer has given the connections their time. Cowboy would let each linger until its client closes it.
      shutdown: :brutal_kill
    }
  end

  defp protocol_options(settings) do
    # A persistent term is read by every connection without being copied.
    :persistent_term.put(Router, Router.dispatch(settings))

    %{
      env: %{dispatch: {:persistent_term, Router}},
      middlewares: [:cowboy_router, AllowedMethods, :cowboy_handler],
      connection_type: :supervisor,
      max_keepalive: :infinity,
      request_timeout: @keep_alive_ms,
      idle_timeout: @keep_alive_ms
    }
  end
end
