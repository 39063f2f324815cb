defmodule ServerWeb.ItemController do
  use ServerWeb, :controller

  alias Server.Catalog

  def index(conn, params) do
    with {:ok, items} <- Catalog.list_items(params) do
      render(conn, :index, items: items)
    end
  end

  def show(conn, %{"id" => id}) do
    with {:ok, item} <- Catalog.fetch_item(id) do
      render(conn, :show, item: item)
    end
  end

  def create(conn, _params) do
    with {:ok, item} <- Catalog.create_item(attrs(conn)) do
      conn
      |> put_status(:created)
      |> put_resp_header("location", ~p"/items/#{item}")
      |> render(:show, item: item)
    end
  end

  def update(conn, %{"id" => id}) do
    with {:ok, item} <- Catalog.replace_item(id, attrs(conn)) do
      render(conn, :show, item: item)
    end
  end

  def delete(conn, %{"id" => id}) do
    with {:ok, _item} <- Catalog.delete_item(id) do
      send_resp(conn, :no_content, "")
    end
  end

  # The body's alone: the parameters would also take a name from the query. Nothing but JSON is parsed.
  defp attrs(%{body_params: %Plug.Conn.Unfetched{}}), do: %{}
  defp attrs(%{body_params: attrs}), do: attrs
end
