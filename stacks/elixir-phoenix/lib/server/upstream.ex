defmodule Server.Upstream do
  @moduledoc "The upstream, over as many kept connections as there are requests under way."

  # Finch keeps 50 by default, and the rest waits.
  @connections 1024
  @timeout 10_000

  def child_spec(_opts) do
    Finch.child_spec(name: __MODULE__, pools: %{default: [size: @connections, count: 1]})
  end

  @doc "Asks the upstream once."
  def fetch do
    request = Finch.build(:get, Application.fetch_env!(:server, __MODULE__)[:url])

    case Finch.request(request, __MODULE__, pool_timeout: @timeout, receive_timeout: @timeout) do
      {:ok, %Finch.Response{status: 200} = response} -> {:ok, response}
      {:ok, %Finch.Response{}} -> {:error, :bad_gateway}
      {:error, _reason} -> {:error, :bad_gateway}
    end
  end
end
