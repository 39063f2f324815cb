defmodule Server.Digest do
  @moduledoc "Repeated SHA-256 of the file that is configured."

  @max_rounds 1_000_000

  @doc "SHA-256 of the file, then of the digest, `rounds` times in all; base64."
  def of_blob(rounds) do
    Application.fetch_env!(:server, :blob_path)
    |> read!()
    |> repeat(rounds)
    |> Base.encode64()
  end

  @doc "The number of rounds that a parameter asks for."
  def parse_rounds(text) when is_binary(text) do
    case Integer.parse(text) do
      {rounds, ""} when rounds in 1..@max_rounds -> {:ok, rounds}
      _ -> {:error, :bad_request}
    end
  end

  def parse_rounds(_missing), do: {:error, :bad_request}

  # Raw, because File.read!/1 asks the one process of Erlang's file server, which then reads for all requests in turn.
  defp read!(path), do: File.open!(path, [:raw], &IO.binread(&1, :eof))

  defp repeat(data, 0), do: data
  defp repeat(data, rounds), do: repeat(:crypto.hash(:sha256, data), rounds - 1)
end
