defmodule ServerWeb.ItemJSON do
  def index(%{items: items}), do: Enum.map(items, &data/1)

  def show(%{item: item}), do: data(item)

  defp data(item), do: %{id: item.id, name: item.name, price: item.price}
end
