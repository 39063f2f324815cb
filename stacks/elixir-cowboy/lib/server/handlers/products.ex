defmodule Server.Handlers.Products do
  @moduledoc "GET /products?from=N"

  @behaviour :cowboy_handler

  alias Server.{Products, Respond}

  @impl true
  def init(req, state) do
    case req |> parameter("from") |> Products.parse_from() do
      {:ok, from} -> {:ok, Respond.compressed_json(req, Products.from(from)), state}
      :error -> {:ok, Respond.error(req, 400, "from must be a number from 1 to 1000000"), state}
    end
  end

  defp parameter(req, name) do
    with {^name, value} <- req |> :cowboy_req.parse_qs() |> List.keyfind(name, 0), do: value
  end
end
