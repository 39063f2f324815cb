defmodule Server.Handlers.Bytes do
  @moduledoc "GET /bytes?rounds=N"

  @behaviour :cowboy_handler

  alias Server.{Digest, Respond}

  @impl true
  def init(req, %{blob_path: path} = state) do
    query = :cowboy_req.parse_qs(req)

    case query
         |> List.keyfind("rounds", 0, {"rounds", nil})
         |> elem(1)
         |> Digest.parse_rounds() do
      {:ok, rounds} ->
        {:ok, Respond.text(req, path |> File.read!() |> Digest.base64(rounds)), state}

      :error ->
        {:ok, Respond.error(req, 400, "rounds must be a number from 1 to 1000000"), state}
    end
  end
end
