defmodule Server.Database do
  @moduledoc "A pool of connections to PostgreSQL."

  alias Server.Database.Connection
  alias Server.{Item, Settings}

  # A request waits for a connection for as long as its client does, more or less.
  @patience_ms 60_000

  @read_item "select id, name, price from items where id = $1"
  @list_items "select id, name, price from items where id > $1 order by id limit $2"
  @create_item "insert into items (name, price) values ($1, $2) returning id, name, price"
  @replace_item "update items set name = $2, price = $3 where id = $1 returning id, name, price"
  @delete_item "delete from items where id = $1 returning id"

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

  @type item :: %{id: integer(), name: String.t(), price: integer()}

  @spec read_item(integer()) :: item() | nil
  def read_item(id), do: "read_item" |> query(@read_item, [id]) |> only_item()

  @doc "At most `limit` items with an id above `after_id`, by id."
  @spec list_items(integer(), integer()) :: [item()]
  def list_items(after_id, limit) do
    "list_items" |> query(@list_items, [after_id, limit]) |> Enum.map(&item/1)
  end

  @spec create_item(Item.draft()) :: item()
  def create_item(%{name: name, price: price}) do
    "create_item" |> query(@create_item, [name, price]) |> only_item()
  end

  @doc "The item as it is now; nil if there is none."
  @spec replace_item(integer(), Item.draft()) :: item() | nil
  def replace_item(id, %{name: name, price: price}) do
    "replace_item" |> query(@replace_item, [id, name, price]) |> only_item()
  end

  @doc "Whether there was such an item."
  @spec delete_item(integer()) :: boolean()
  def delete_item(id) do
    query("delete_item", @delete_item, [id]) != []
  end

  defp only_item([]), do: nil
  defp only_item([row]), do: item(row)

  defp item([id, name, price]), do: %{id: id, name: name, price: price}

  defp query(name, sql, parameters \\ []) do
    :poolboy.transaction(__MODULE__, &Connection.query(&1, name, sql, parameters), @patience_ms)
  end
end
