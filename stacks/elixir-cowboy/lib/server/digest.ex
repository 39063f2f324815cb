defmodule Server.Digest do
  @moduledoc "Repeated SHA-256."

  @max_rounds 1_000_000

  @doc "The number of rounds that `text` asks for."
  @spec parse_rounds(term()) :: {:ok, pos_integer()} | :error
  def parse_rounds(text) when is_binary(text) do
    case Integer.parse(text) do
      {rounds, ""} when rounds in 1..@max_rounds -> {:ok, rounds}
      _ -> :error
    end
  end

  # `true` for a name without a value, nil for no name.
  def parse_rounds(_other), do: :error

  @doc "SHA-256 of `data`, then of the digest, `rounds` times in all; base64."
  @spec base64(binary(), pos_integer()) :: String.t()
  def base64(data, rounds), do: data |> repeat(rounds) |> Base.encode64()

  defp repeat(data, 0), do: data
  defp repeat(data, rounds), do: repeat(:crypto.hash(:sha256, data), rounds - 1)
end
