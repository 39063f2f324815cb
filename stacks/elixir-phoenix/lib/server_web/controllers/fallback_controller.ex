defmodule ServerWeb.FallbackController do
  @moduledoc "Answers for what an action could not do."

  use Phoenix.Controller, formats: [:json]

  import Plug.Conn

  def call(conn, {:error, %Ecto.Changeset{} = changeset}) do
    conn
    |> put_status(:unprocessable_entity)
    |> put_format("json")
    |> put_view(json: ServerWeb.ChangesetJSON)
    |> render(:error, changeset: changeset)
  end

  def call(conn, {:error, status}) when is_atom(status) do
    conn
    |> put_status(status)
    # Whatever format was asked for.
    |> put_format("json")
    |> put_view(json: ServerWeb.ErrorJSON)
    |> render(:"#{Plug.Conn.Status.code(status)}")
  end
end
