defmodule Server.Handlers.Bytes do
  @moduledoc "GET /bytes?rounds=N"

  @behaviour :cowboy_handler

  alias Server.{Digest, Respond}

  @impl true
  def init(req, %{blob_path: path} = state) do
    case req |> parameter("rounds") |> Digest.parse_rounds() do
      {:ok, rounds} ->
        {:ok, Respond.text(req, path |> read!() |> Digest.base64(rounds)), state}

      :error ->
        {:ok, Respond.error(req, 400, "rounds must be a number from 1 to 1000000"), state}
    end
  end

  # Raw, because File.read!/1 asks the one process of Erlang's file server, which then reads for all requests in turn.
  defp read!(path), do: File.open!(path, [:raw], &IO.binread(&1, :eof))

  defp parameter(req, name) do
    with {^name, value} <- req |> :cowboy_req.parse_qs() |> List.keyfind(name, 0), do: value
  end
end
