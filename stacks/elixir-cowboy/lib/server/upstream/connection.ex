defmodule Server.Upstream.Connection do
  @moduledoc """
  One connection of the pool, opened when it is first needed, and again after it failed or the upstream closed it.

  It carries one request at a time, which is never repeated.
  """

  use GenServer

  @behaviour :poolboy_worker

  @type answer :: {:ok, content_type :: String.t(), body :: binary()} | {:error, term()}

  @timeout_ms 10_000

  @gun_options %{
    protocols: [:http],
    # Gun would connect again by itself; a new connection is made when one is needed.
    retry: 0,
    connect_timeout: 5_000,
    transport_opts: [nodelay: true],
    # Gun would send an empty line every five seconds over a connection that idles.
    http_opts: %{keepalive: :infinity}
  }

  @doc "What a URL says."
  def options(url) do
    %URI{scheme: "http", host: host, port: port} = uri = URI.parse(url)
    [host: String.to_charlist(host), port: port, path: path(uri)]
  end

  defp path(%URI{path: path, query: nil}), do: path || "/"
  defp path(%URI{path: path, query: query}), do: (path || "/") <> "?" <> query

  @impl :poolboy_worker
  def start_link(options), do: GenServer.start_link(__MODULE__, options)

  @spec get(pid()) :: answer()
  # It waits for the upstream with timeouts of its own.
  def get(connection), do: GenServer.call(connection, :get, :infinity)

  @impl GenServer
  def init(options), do: {:ok, Enum.into(options, %{gun: nil})}

  @impl GenServer
  def handle_call(:get, _from, state) do
    gun = state.gun || open(state)

    case ask(gun, state.path) do
      {:ok, _content_type, _body} = answer ->
        {:reply, answer, %{state | gun: gun}}

      # An answer may still be on its way.
      {:error, _reason} = error ->
        close(gun)
        {:reply, error, %{state | gun: nil}}
    end
  end

  # Gun tells its owner when a connection comes and goes.
  @impl GenServer
  def handle_info({:gun_down, gun, _, _, _, _}, %{gun: gun} = state) do
    close(gun)
    {:noreply, %{state | gun: nil}}
  end

  def handle_info(_message, state), do: {:noreply, state}

  defp open(%{host: host, port: port}) do
    {:ok, gun} = :gun.open(host, port, @gun_options)
    gun
  end

  defp close(gun) do
    :gun.close(gun)
    :gun.flush(gun)
  end

  defp ask(gun, path) do
    stream = :gun.get(gun, path, [{"accept", "*/*"}])

    with {:response, :nofin, 200, headers} <- :gun.await(gun, stream, @timeout_ms),
         {:ok, body} <- :gun.await_body(gun, stream, @timeout_ms) do
      {:ok, :proplists.get_value("content-type", headers, "text/plain"), body}
    else
      {:response, _, status, _} -> {:error, {:status, status}}
      {:error, reason} -> {:error, reason}
    end
  end
end
