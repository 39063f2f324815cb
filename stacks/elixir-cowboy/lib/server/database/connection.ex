defmodule Server.Database.Connection do
  @moduledoc """
  One connection of the pool, made when it is first needed, so that the server starts without a database.

  It is linked with the driver's process: when that ends in any way, this one does, and the pool starts another one in
  its place. A request that was waiting for it is answered with 500.
  """

  use GenServer

  @behaviour :poolboy_worker

  # Named, so that each connection prepares it once.
  @statement "first_users"
  @sql "select id, email from users order by id limit 10"

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

  def first_users(connection), do: GenServer.call(connection, :first_users)

  @impl GenServer
  def init(options), do: {:ok, {:unconnected, options}}

  @impl GenServer
  def handle_call(:first_users, from, {:unconnected, options}) do
    {:ok, driver} = :pgsql_proto.start_link(options)
    {:ok, :idle, [], _columns} = :pgsql.prepare(driver, @statement, @sql)
    handle_call(:first_users, from, driver)
  end

  def handle_call(:first_users, _from, driver) do
    {:ok, {_command, rows}} = :pgsql.execute(driver, @statement, [])
    {:reply, Enum.map(rows, &user/1), driver}
  end

  # The driver decodes a number and hands it over as text.
  defp user([{:int4, id}, {:text, email}]), do: %{id: String.to_integer(id), email: email}
end
