defmodule Server.Upstream do
  @moduledoc """
  The upstream, over as many kept connections as there are requests under way.

  Gun's connections are processes that belong to this one. Each carries one request at a time, on behalf of the process
  that asked for it.
  """

  use GenServer

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

  def start_link(url), do: GenServer.start_link(__MODULE__, url, name: __MODULE__)

  @doc "Asks the upstream once."
  @spec get() :: {:ok, content_type :: String.t(), body :: binary()} | {:error, term()}
  def get do
    {lease, connection, path} = GenServer.call(__MODULE__, :take, @timeout_ms)
    answer = ask(connection, path)
    # After a failure an answer may still be on its way.
    keep? = match?({:ok, _, _}, answer)
    GenServer.cast(__MODULE__, {:return, lease, keep?})
    answer
  end

  defp ask(connection, path) do
    stream = :gun.get(connection, path, [{"accept", "*/*"}])

    with {:response, :nofin, 200, headers} <- :gun.await(connection, stream, @timeout_ms),
         {:ok, body} <- :gun.await_body(connection, stream, @timeout_ms) do
      {:ok, :proplists.get_value("content-type", headers, "text/plain"), body}
    else
      {:response, _, status, _} -> {:error, {:status, status}}
      {:error, reason} -> {:error, reason}
    end
  end

  @impl true
  def init(url) do
    %URI{scheme: "http", host: host, port: port} = uri = URI.parse(url)

    {:ok,
     %{
       host: String.to_charlist(host),
       port: port,
       path: path(uri),
       # Connections that nobody uses, the last one used first.
       idle: [],
       # The others, by the monitor of the process that uses it.
       leased: %{}
     }}
  end

  defp path(%URI{path: path, query: nil}), do: path || "/"
  defp path(%URI{path: path, query: query}), do: (path || "/") <> "?" <> query

  @impl true
  def handle_call(:take, {user, _tag}, state) do
    {connection, state} = take(state)
    lease = Process.monitor(user)
    state = put_in(state.leased[lease], connection)
    {:reply, {lease, connection, state.path}, state}
  end

  @impl true
  def handle_cast({:return, lease, keep?}, state) do
    Process.demonitor(lease, [:flush])
    {connection, state} = pop_in(state.leased[lease])

    # The upstream may have closed it right after the answer, and that may be known here already.
    if keep? and Process.alive?(connection) do
      {:noreply, %{state | idle: [connection | state.idle]}}
    else
      :gun.close(connection)
      {:noreply, state}
    end
  end

  @impl true
  def handle_info({:DOWN, monitor, :process, process, _reason}, state) do
    case pop_in(state.leased[monitor]) do
      # A connection.
      {nil, state} ->
        {:noreply, %{state | idle: List.delete(state.idle, process)}}

      # Its user, while the answer was on its way.
      {connection, state} ->
        :gun.close(connection)
        {:noreply, state}
    end
  end

  # Gun tells its owner when a connection comes and goes.
  def handle_info(message, state) when elem(message, 0) in [:gun_up, :gun_down, :gun_error] do
    {:noreply, state}
  end

  defp take(%{idle: [connection | idle]} = state), do: {connection, %{state | idle: idle}}

  defp take(%{idle: []} = state) do
    {:ok, connection} = :gun.open(state.host, state.port, @gun_options)
    Process.monitor(connection)
    {connection, state}
  end
end
