defmodule Server.Item do
  @moduledoc "What may be asked about items."

  @type draft :: %{name: String.t(), price: integer()}

  @max_id 2_147_483_647
  @max_name 100
  @max_price 1_000_000
  @max_page 100
  @default_page 20

  @doc "A constraint of Cowboy's router: a path with another id is not found."
  def id(:forward, text), do: number(text, 1..@max_id)
  def id(:reverse, id), do: {:ok, Integer.to_string(id)}
  def id(:format_error, _error), do: "not the id of an item"

  @doc "What a client says of an item, from decoded JSON."
  @spec validate(term()) :: {:ok, draft()} | {:error, String.t()}
  def validate(%{"name" => name, "price" => price}) do
    cond do
      not (is_binary(name) and name?(name)) -> {:error, "name must have 1 to 100 characters"}
      price not in 0..@max_price -> {:error, "price must be a number from 0 to 1000000"}
      true -> {:ok, %{name: name, price: price}}
    end
  end

  def validate(_other), do: {:error, "expected an object with a name and a price"}

  # Code points, of which String.length/1 may count several as one. PostgreSQL has no text with a NUL.
  defp name?(text) do
    length(String.codepoints(text)) in 1..@max_name and not String.contains?(text, <<0>>)
  end

  @doc "The page that a query asks for."
  @spec page([{String.t(), String.t() | true}]) ::
          {:ok, after_id :: integer(), limit :: integer()} | {:error, String.t()}
  def page(query) do
    with {:after, {:ok, after_id}} <- {:after, number(query, "after", 0..@max_id, 0)},
         {:limit, {:ok, limit}} <- {:limit, number(query, "limit", 1..@max_page, @default_page)} do
      {:ok, after_id, limit}
    else
      {:after, _error} -> {:error, "after must be a number from 0"}
      {:limit, _error} -> {:error, "limit must be a number from 1 to 100"}
    end
  end

  defp number(query, name, range, default) do
    case List.keyfind(query, name, 0) do
      {^name, text} -> number(text, range)
      nil -> {:ok, default}
    end
  end

  defp number(text, range) when is_binary(text) do
    case Integer.parse(text) do
      {number, ""} -> if number in range, do: {:ok, number}, else: {:error, :out_of_range}
      _ -> {:error, :not_a_number}
    end
  end

  # `true` for a name without a value.
  defp number(true, _range), do: {:error, :not_a_number}
end
