defmodule Server.Settings do
  @moduledoc "What the environment says."

  defstruct [:host, :port, :pool_size, :blob_path, :database_url, :upstream_url]

  @type t :: %__MODULE__{
          host: :inet.ip_address(),
          port: :inet.port_number(),
          pool_size: pos_integer(),
          blob_path: Path.t() | nil,
          database_url: String.t() | nil,
          upstream_url: String.t() | nil
        }

  @spec from_environment() :: t()
  def from_environment do
    %__MODULE__{
      host: address("HOST", "127.0.0.1"),
      port: positive_integer("PORT", "8080"),
      pool_size: positive_integer("POOL_SIZE", "16"),
      blob_path: System.get_env("BLOB_PATH"),
      database_url: System.get_env("DATABASE_URL"),
      upstream_url: System.get_env("UPSTREAM_URL")
    }
  end

  defp address(name, default) do
    text = System.get_env(name, default)

    case text |> String.to_charlist() |> :inet.parse_address() do
      {:ok, address} -> address
      {:error, _} -> raise ArgumentError, "#{name} is not an IP address: #{text}"
    end
  end

  defp positive_integer(name, default) do
    text = System.get_env(name, default)

    case Integer.parse(text) do
      {number, ""} when number > 0 -> number
      _ -> raise ArgumentError, "#{name} is not a positive integer: #{text}"
    end
  end
end
