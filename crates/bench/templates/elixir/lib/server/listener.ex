defmodule Server.Listener do
  @moduledoc "Accepts connections; a process for each."

  use Task, restart: :permanent

  alias Server.{HTTP, Routes}

  def start_link(address), do: Task.start_link(__MODULE__, :listen, [address])

  def listen(host: host, port: port) do
    {:ok, ip} = host |> String.to_charlist() |> :inet.parse_address()
    # http_bin: Erlang's own parser takes the head of a request apart.
    options = [:binary, ip: ip, packet: :http_bin, active: false, nodelay: true]
    {:ok, listener} = :gen_tcp.listen(port, [{:backlog, 1024}, {:reuseaddr, true} | options])
    accept(listener)
  end

  defp accept(listener) do
    {:ok, socket} = :gen_tcp.accept(listener)

    {:ok, pid} =
      Task.Supervisor.start_child(
        Server.Connections,
        fn -> HTTP.serve(socket, &Routes.answer/2) end,
        shutdown: :brutal_kill
      )

    # It may have ended already.
    _ = :gen_tcp.controlling_process(socket, pid)
    accept(listener)
  end
end
