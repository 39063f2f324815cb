defmodule Server.Settings do
  @moduledoc "What the environment says."

  defstruct [
    :host,
    :port,
    :tls,
    :h2c_port,
    :pool_size,
    :blob_path,
    :static_dir,
    :database_url,
    :upstream_url
  ]

  @type t :: %__MODULE__{
          host: :inet.ip_address(),
          port: :inet.port_number(),
          tls:
            %{port: :inet.port_number(), certificate: Path.t() | nil, key: Path.t() | nil} | nil,
          h2c_port: :inet.port_number() | nil,
          pool_size: pos_integer(),
          blob_path: Path.t() | nil,
          static_dir: Path.t(),
          database_url: String.t() | nil,
          upstream_url: String.t() | nil
        }

  @spec from_environment() :: t()
  def from_environment do
    %__MODULE__{
      host: address("HOST", "127.0.0.1"),
      port: positive_integer("PORT", "8080"),
      tls: tls(),
      h2c_port: if(System.get_env("H2C_PORT"), do: positive_integer("H2C_PORT")),
      pool_size: positive_integer("POOL_SIZE", "16"),
      blob_path: System.get_env("BLOB_PATH"),
      static_dir: System.get_env("STATIC_DIR", "static"),
      database_url: System.get_env("DATABASE_URL"),
      upstream_url: System.get_env("UPSTREAM_URL")
    }
  end

  defp tls do
    if System.get_env("TLS_PORT") do
      %{
        port: positive_integer("TLS_PORT"),
        certificate: System.get_env("TLS_CERT"),
        key: System.get_env("TLS_KEY")
      }
    end
  end

  defp address(name, default) do
    text = System.get_env(name, default)

    case text |> String.to_charlist() |> :inet.parse_address() do
      {:ok, address} -> address
      {:error, _} -> raise ArgumentError, "#{name} is not an IP address: #{text}"
    end
  end

  defp positive_integer(name, default \\ "") do
    text = System.get_env(name, default)

    case Integer.parse(text) do
      {number, ""} when number > 0 -> number
      _ -> raise ArgumentError, "#{name} is not a positive integer: #{text}"
    end
  end
end
