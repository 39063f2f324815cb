defmodule Server.Handlers.Items do
  @moduledoc "GET and POST /items"

  @behaviour :cowboy_handler

  alias Server.{Database, Item, JsonBody, Respond}

  @impl true
  def init(%{method: "POST"} = req, state) do
    case JsonBody.read(req, &Item.validate/1) do
      {:ok, draft, req} -> {:ok, create(req, draft), state}
      {:error, status, message, req} -> {:ok, Respond.error(req, status, message), state}
    end
  end

  def init(req, state) do
    case req |> :cowboy_req.parse_qs() |> Item.page() do
      {:ok, after_id, limit} ->
        {:ok, Respond.json(req, Database.list_items(after_id, limit)), state}

      {:error, message} ->
        {:ok, Respond.error(req, 400, message), state}
    end
  end

  defp create(req, draft) do
    item = Database.create_item(draft)
    Respond.created(req, "/items/#{item.id}", item)
  end
end
