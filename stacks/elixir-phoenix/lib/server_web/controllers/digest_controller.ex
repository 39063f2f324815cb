defmodule ServerWeb.DigestController do
  use ServerWeb, :controller

  alias Server.Digest

  def show(conn, params) do
    with {:ok, rounds} <- Digest.parse_rounds(params["rounds"]) do
      text(conn, Digest.of_blob(rounds))
    end
  end
end
