defmodule Server.Listener do
  @moduledoc "Cowboy on its ports, as a part of this application's supervision tree."

  alias Server.{AllowedMethods, Router, Settings}

  # Longer than clients and load balancers usually keep a connection; Cowboy's own is 5 s.
  @keep_alive_ms 65_000

  @doc "The name of a Ranch listener for each port, and its place in the supervision tree."
  @spec all(Settings.t()) :: [{atom(), Supervisor.child_spec()}]
  def all(%Settings{tls: tls, h2c_port: h2c_port} = settings) do
    # A persistent term is read by every connection without being copied.
    :persistent_term.put(Router, Router.dispatch(settings))

    [clear(:http, settings.host, settings.port)] ++
      if(tls, do: [tls(settings.host, tls)], else: []) ++
      if(h2c_port, do: [clear(:h2c, settings.host, h2c_port)], else: [])
  end

  # Without TLS, Cowboy speaks HTTP/2 with a client that begins with it.
  defp clear(name, host, port) do
    options = transport_options(ip: host, port: port)
    {name, :ranch.child_spec(name, :ranch_tcp, options, :cowboy_clear, protocol_options())}
  end

  # HTTP/2 or HTTP/1.1, whichever the client chooses in the handshake.
  defp tls(host, %{port: port, certificate: certificate, key: key}) do
    options =
      transport_options(
        ip: host,
        port: port,
        certfile: certificate,
        keyfile: key,
        alpn_preferred_protocols: ["h2", "http/1.1"]
      )

    {:https, :ranch.child_spec(:https, :ranch_ssl, options, :cowboy_tls, protocol_options())}
  end

  defp transport_options(socket_options) do
    %{
      socket_opts: socket_options ++ [backlog: 4096, nodelay: true],
      max_connections: :infinity,
      connection_type: :supervisor,
      # The drainer has given the connections their time. Cowboy would let each linger until its client closes it.
      shutdown: :brutal_kill
    }
  end

  defp protocol_options do
    %{
      env: %{dispatch: {:persistent_term, Router}},
      middlewares: [:cowboy_router, AllowedMethods, :cowboy_handler],
      connection_type: :supervisor,
      max_keepalive: :infinity,
      # A body that no handler read closes the connection. Cowboy 2.8 skips it, and may then hear no further request.
      max_skip_body_length: 0,
      request_timeout: @keep_alive_ms,
      idle_timeout: @keep_alive_ms,
      # By default, Cowboy closes a connection of HTTP/2 after 1,000 frames a second.
      max_received_frame_rate: {10_000_000, 10_000}
    }
  end
end
