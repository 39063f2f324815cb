defmodule ServerWeb.UploadController do
  use ServerWeb, :controller

  @max_bytes 16 * 1024 * 1024
  @piece [length: 64 * 1024, read_length: 64 * 1024]

  @doc "Answers with the digest of the body, which is hashed as it comes."
  def create(conn, _params) do
    with {:ok, digest, conn} <- hash(conn, :crypto.hash_init(:sha256), 0) do
      text(conn, Base.encode64(digest))
    end
  end

  defp hash(_conn, _hash, length) when length > @max_bytes do
    {:error, :request_entity_too_large}
  end

  defp hash(conn, hash, length) do
    case read_body(conn, @piece) do
      {:more, piece, conn} ->
        hash(conn, :crypto.hash_update(hash, piece), length + byte_size(piece))

      {:ok, piece, conn} ->
        {:ok, hash |> :crypto.hash_update(piece) |> :crypto.hash_final(), conn}

      {:error, _reason} ->
        {:error, :bad_request}
    end
  end
end
