defmodule Server.Payload do
  @moduledoc "A body of 1 MiB."

  @bytes :binary.copy("d", 1_048_576)

  def bytes, do: @bytes

  def content_type, do: "application/octet-stream"
end
