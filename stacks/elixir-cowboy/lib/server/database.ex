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
  def first_users, do: :poolboy.transaction(__MODULE__, &Connection.first_users/1, @patience_ms)
end
