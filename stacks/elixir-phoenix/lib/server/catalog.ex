defmodule Server.Catalog do
  @moduledoc "Items."

  import Ecto.Changeset
  import Ecto.Query

  alias Server.Catalog.Item
  alias Server.Repo

  # PostgreSQL's integer.
  @max_id 2_147_483_647

  @doc "Items with an id above `after`, at most `limit` of them."
  def list_items(params) do
    with {:ok, page} <- params |> page_changeset() |> apply_action(:list) do
      {:ok,
       Repo.all(
         from item in Item,
           where: item.id > ^page.after,
           order_by: item.id,
           limit: ^page.limit
       )}
    end
  end

  def fetch_item(id) do
    with {:ok, id} <- parse_id(id), do: found(Repo.get(Item, id))
  end

  def create_item(attrs) do
    %Item{}
    |> Item.changeset(attrs)
    |> Repo.insert()
  end

  @doc "Replaces an item without a read before it."
  def replace_item(id, attrs) do
    with {:ok, id} <- parse_id(id) do
      %Item{id: id}
      |> Item.changeset(attrs)
      |> Repo.update(stale_error_field: :id)
      |> found()
    end
  end

  @doc "Deletes an item without a read before it."
  def delete_item(id) do
    with {:ok, id} <- parse_id(id) do
      %Item{id: id}
      |> Repo.delete(stale_error_field: :id)
      |> found()
    end
  end

  defp page_changeset(params) do
    {%{after: 0, limit: 20}, %{after: :integer, limit: :integer}}
    |> cast(params, [:after, :limit])
    |> validate_required([:after, :limit])
    |> validate_number(:after, greater_than_or_equal_to: 0, less_than_or_equal_to: @max_id)
    |> validate_number(:limit, greater_than_or_equal_to: 1, less_than_or_equal_to: 100)
  end

  defp parse_id(text) do
    case Integer.parse(text) do
      {id, ""} when id in 1..@max_id -> {:ok, id}
      _ -> {:error, :not_found}
    end
  end

  # Ecto calls a write stale if its row is not there.
  defp found(nil), do: {:error, :not_found}
  defp found({:error, %{errors: [id: {_message, [stale: true]}]}}), do: {:error, :not_found}
  defp found(%Item{} = item), do: {:ok, item}
  defp found(result), do: result
end
