defmodule Server.Database do
  @moduledoc "A pool of connections to PostgreSQL."

  alias Server.Database.Connection
  alias Server.Settings

  # A request waits for a connection for as long as its client does, more or less.
  @patience_ms 60_000

  @spec child_spec(Settings.t()) :: Supervisor.child_spec()
  def child_spec(%Settings{database_url: url, pool_size: size}) do
    pool = [
      name: {:local, __MODULE__},
      worker_module: Connection,
      size: size,
      max_overflow: 0
    ]

    :poolboy.child_spec(__MODULE__, pool, Connection.options(url))
  end

  @doc "The first ten users."
  @spec first_users() :: [%{id: integer(), email: String.t()}]
  def first_users do
    rows = query("first_users", "select id, email from users order by id limit 10")
    Enum.map(rows, fn [id, email] -> %{id: id, email: email} end)
  end

  @doc "All fortunes, in no order."
  @spec all_fortunes() :: [%{id: integer(), message: String.t()}]
  def all_fortunes do
    rows = query("all_fortunes", "select id, message from fortune")
    Enum.map(rows, fn [id, message] -> %{id: id, message: message} end)
  end

  defp query(name, sql) do
    :poolboy.transaction(__MODULE__, &Connection.query(&1, name, sql), @patience_ms)
  end
end
