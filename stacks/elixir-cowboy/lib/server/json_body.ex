defmodule Server.JsonBody do
  @moduledoc "JSON that a request brings."

  @max_body_bytes 1_048_576

  @doc """
  What `validate` makes of the decoded body, or the status and the message to refuse it with; and the request, of which
  the body is read.
  """
  @spec read(:cowboy_req.req(), (term() -> {:ok, value} | {:error, String.t()})) ::
          {:ok, value, :cowboy_req.req()} | {:error, pos_integer(), String.t(), :cowboy_req.req()}
        when value: term()
  def read(req, validate) do
    with {"application", "json", _parameters} <- :cowboy_req.parse_header("content-type", req),
         {:ok, body, req} <- :cowboy_req.read_body(req, %{length: @max_body_bytes}) do
      with {:ok, decoded} <- decode(body),
           {:ok, value} <- validate.(decoded) do
        {:ok, value, req}
      else
        {:error, message} -> {:error, 400, message, req}
      end
    else
      {:more, _beginning, req} -> {:error, 413, "Content Too Large", req}
      _other_type -> {:error, 415, "Unsupported Media Type", req}
    end
  end

  defp decode(body) do
    {:ok, :jiffy.decode(body, [:return_maps])}
  catch
    # Jiffy raises this, wherever the text goes wrong.
    :error, {_position, _reason} -> {:error, "malformed JSON"}
  end
end
