defmodule Server.Drainer do
  @moduledoc """
  When the application ends, first takes no more connections and lets requests in flight finish for a short while.

  It ends early when there are no connections left. One that idles cannot be told from one that is busy.
  """

  use GenServer

  @grace_ms 500
  @poll_ms 20

  def start_link(listeners), do: GenServer.start_link(__MODULE__, listeners)

  @impl true
  def init(listeners) do
    # So that terminate/2 is called.
    Process.flag(:trap_exit, true)
    {:ok, listeners}
  end

  @impl true
  def terminate(_reason, listeners) do
    for listener <- listeners, do: :ok = :ranch.suspend_listener(listener)
    wait(listeners, div(@grace_ms, @poll_ms))
  end

  defp wait(_listeners, 0), do: :ok

  defp wait(listeners, polls) do
    unless Enum.all?(listeners, &(:ranch.procs(&1, :connections) == [])) do
      Process.sleep(@poll_ms)
      wait(listeners, polls - 1)
    end
  end
end
