defmodule Server.Respond do
  @moduledoc "Answers."

  @text %{"content-type" => "text/plain; charset=utf-8"}
  @html %{"content-type" => "text/html; charset=utf-8"}
  @json %{"content-type" => "application/json"}

  def text(req, text), do: :cowboy_req.reply(200, @text, text, req)

  def html(req, page), do: :cowboy_req.reply(200, @html, page, req)

  def json(req, value), do: :cowboy_req.reply(200, @json, :jiffy.encode(value), req)

  @doc "JSON that is compressed for clients that accept it. Cowboy's own compression is one of whole listeners."
  def compressed_json(req, value) do
    headers = Map.put(@json, "vary", "accept-encoding")
    json = :jiffy.encode(value)

    if accepts_gzip?(req) do
      headers = Map.put(headers, "content-encoding", "gzip")
      :cowboy_req.reply(200, headers, :zlib.gzip(json), req)
    else
      :cowboy_req.reply(200, headers, json, req)
    end
  end

  # A weight is a number of thousandths.
  defp accepts_gzip?(req) do
    codings = :cowboy_req.parse_header("accept-encoding", req, [])
    Enum.any?(codings, fn {coding, weight} -> coding == "gzip" and weight > 0 end)
  end

  def created(req, location, value) do
    headers = Map.put(@json, "location", location)
    :cowboy_req.reply(201, headers, :jiffy.encode(value), req)
  end

  def no_content(req), do: :cowboy_req.reply(204, req)

  def bytes(req, content_type, bytes) do
    :cowboy_req.reply(200, %{"content-type" => content_type}, bytes, req)
  end

  def error(req, status, message), do: :cowboy_req.reply(status, @text, message, req)

  def method_not_allowed(req, methods) do
    headers = Map.put(@text, "allow", Enum.join(methods, ", "))
    :cowboy_req.reply(405, headers, "Method Not Allowed", req)
  end
end
