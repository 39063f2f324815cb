defmodule Server.Routes do
  @moduledoc "What answers each method and path."

  def answer(:GET, "/plaintext"), do: {200, "Hello, World!"}
  def answer(_method, "/plaintext"), do: {405, "method not allowed"}
  def answer(_method, _path), do: {404, "not found"}
end
