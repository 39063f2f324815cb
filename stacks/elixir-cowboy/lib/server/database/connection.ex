defmodule Server.Database.Connection do
  @moduledoc """
  One connection of the pool, made when it is first needed, so that the server starts without a database.

  It is linked with the driver's process: when that ends in any way, this one does, and the pool starts another one in
  its place. A request that was waiting for it is answered with 500.
  """

  use GenServer

  @behaviour :poolboy_worker

  @doc "The driver's options for a URL."
  def options(url) do
    %URI{host: host, port: port, path: "/" <> database, userinfo: userinfo} = URI.parse(url)
    [user | password] = String.split(userinfo || "postgres", ":", parts: 2)

    [
      host: host,
      port: port || 5432,
      database: URI.decode(database),
      user: URI.decode(user),
      password: password |> Enum.join() |> URI.decode(),
      as_binary: true
    ]
  end

  @impl :poolboy_worker
  def start_link(options), do: GenServer.start_link(__MODULE__, options)

  @doc "The rows of the statement `sql`. Under its name, each connection prepares it once."
  def query(connection, name, sql, parameters),
    do: GenServer.call(connection, {:query, name, sql, parameters})

  @impl GenServer
  def init(options), do: {:ok, %{options: options, driver: nil, prepared: MapSet.new()}}

  @impl GenServer
  def handle_call({:query, name, sql, parameters}, _from, state) do
    state = state |> connect() |> prepare(name, sql)
    {:ok, {_command, rows}} = :pgsql.execute(state.driver, name, parameters)
    {:reply, Enum.map(rows, &values/1), state}
  end

  defp connect(%{driver: nil} = state) do
    {:ok, driver} = :pgsql_proto.start_link(state.options)
    %{state | driver: driver}
  end

  defp connect(state), do: state

  defp prepare(state, name, sql) do
    if name in state.prepared do
      state
    else
      {:ok, :idle, _parameters, _columns} = :pgsql.prepare(state.driver, name, sql)
      %{state | prepared: MapSet.put(state.prepared, name)}
    end
  end

  defp values(row), do: Enum.map(row, &value/1)

  # The driver decodes a number and hands it over as text.
  defp value({:int4, number}), do: String.to_integer(number)
  defp value({:text, text}), do: text
end
