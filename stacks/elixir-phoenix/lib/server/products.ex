defmodule Server.Products do
  @moduledoc "Products that are computed."

  @count 100
  @max_from 1_000_000
  @categories {"books", "garden", "kitchen", "music", "tools"}

  @doc "The number that products are to begin with, if the text is one."
  @spec parse_from(term()) :: {:ok, pos_integer()} | {:error, :bad_request}
  def parse_from(text) when is_binary(text) do
    case Integer.parse(text) do
      {from, ""} when from in 1..@max_from -> {:ok, from}
      _ -> {:error, :bad_request}
    end
  end

  def parse_from(_missing), do: {:error, :bad_request}

  @spec from(pos_integer()) :: [map()]
  def from(first), do: Enum.map(first..(first + @count - 1), &product/1)

  defp product(id) do
    %{
      id: id,
      name: "Product #{id}",
      category: elem(@categories, rem(id, tuple_size(@categories))),
      price: rem(id * 37, 10_007),
      stock: rem(id * 31, 101)
    }
  end
end
