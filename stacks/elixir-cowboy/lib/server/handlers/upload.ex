defmodule Server.Handlers.Upload do
  @moduledoc "POST /upload: the digest of a body that is hashed as it comes."

  @behaviour :cowboy_handler

  alias Server.Respond

  @max_bytes 16 * 1024 * 1024
  @piece %{length: 64 * 1024}

  @impl true
  def init(req, state) do
    case hash(req, :crypto.hash_init(:sha256), 0) do
      {:ok, digest, req} -> {:ok, Respond.text(req, Base.encode64(digest)), state}
      {:too_long, req} -> {:ok, Respond.error(req, 413, "the body is too long"), state}
    end
  end

  defp hash(req, _hash, length) when length > @max_bytes, do: {:too_long, req}

  defp hash(req, hash, length) do
    case :cowboy_req.read_body(req, @piece) do
      {:more, piece, req} ->
        hash(req, :crypto.hash_update(hash, piece), length + byte_size(piece))

      {:ok, piece, req} ->
        {:ok, hash |> :crypto.hash_update(piece) |> :crypto.hash_final(), req}
    end
  end
end
