defmodule Server.Drainer do
  @moduledoc """
  When the application ends, first takes no more connections and lets requests in flight finish for a short while.

  It ends early when there are no connections left. One that idles cannot be told from one that is busy.
  """

  use GenServer

  @grace_ms 500
  @poll_ms 20

  def start_link(listener), do: GenServer.start_link(__MODULE__, listener)

  @impl true
  def init(listener) do
    # So that terminate/2 is called.
    Process.flag(:trap_exit, true)
    {:ok, listener}
  end

  @impl true
  def terminate(_reason, listener) do
    :ok = :ranch.suspend_listener(listener)
    wait(listener, div(@grace_ms, @poll_ms))
  end

  defp wait(_listener, 0), do: :ok

  defp wait(listener, polls) do
    unless :ranch.procs(listener, :connections) == [] do
      Process.sleep(@poll_ms)
      wait(listener, polls - 1)
    end
  end
end
