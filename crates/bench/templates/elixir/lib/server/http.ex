defmodule Server.HTTP do
  @moduledoc """
  As little of HTTP/1.1 as a first check needs. Delete it for {{framework}}.
  """

  @reasons %{
    200 => "OK",
    400 => "Bad Request",
    404 => "Not Found",
    405 => "Method Not Allowed\r\nAllow: GET"
  }

  @doc "Answers one request after the other until the client goes."
  def serve(socket, answer) do
    case :gen_tcp.recv(socket, 0) do
      {:ok, {:http_request, method, {:abs_path, target}, version}} ->
        [path | _query] = String.split(target, "?", parts: 2)
        # HTTP/1.0 asks for no more than one.
        close = has_body?(socket, false) or version == {1, 0}
        write(socket, method, answer.(method, path), close)
        unless close, do: serve(socket, answer)

      {:ok, _something_else} ->
        write(socket, :GET, {400, "bad request"}, true)

      {:error, _gone} ->
        :ok
    end
  end

  # What is not read must not be taken for the next request.
  defp has_body?(socket, so_far) do
    case :gen_tcp.recv(socket, 0) do
      {:ok, {:http_header, _, name, _, _}} ->
        has_body?(socket, so_far or name in [:"Content-Length", :"Transfer-Encoding"])

      {:ok, :http_eoh} ->
        so_far

      _error ->
        true
    end
  end

  defp write(socket, method, {status, body}, close) do
    :gen_tcp.send(socket, [
      "HTTP/1.1 #{status} #{@reasons[status]}\r\n",
      if(close, do: "Connection: close\r\n", else: []),
      Calendar.strftime(DateTime.utc_now(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n"),
      "Content-Type: text/plain; charset=utf-8\r\n",
      "Content-Length: #{byte_size(body)}\r\n\r\n",
      if(method == :HEAD, do: [], else: body)
    ])

    if close, do: :gen_tcp.close(socket)
  end
end
