defmodule Debian do
  @moduledoc """
  Brings applications of Erlang from Debian's packages into a folder. Installs nothing and needs no root.

  apt-get checks what it downloads against the hashes in Debian's signed index. A package's revision may move on with a
  fix from Debian; the application in it must have the very version that was asked for.

  With `modules:` and `applications:`, only these modules are taken, which must need no other applications than these.
  """

  @type application :: {name :: atom(), version :: String.t(), package :: String.t(), keyword()}

  @spec get([application()], Path.t()) :: :ok
  def get(applications, folder) do
    File.mkdir_p!(Path.dirname(folder))
    work = folder <> ".partial"
    File.rm_rf!(work)
    File.mkdir_p!(Path.join(work, "applications"))

    download(for({_, _, package, _} <- applications, uniq: true, do: package), work)

    for deb <- Path.wildcard(Path.join(work, "*.deb")) do
      run("dpkg-deb", ["--extract", deb, Path.join(work, "root")], [])
    end

    Enum.each(applications, &take(&1, work))

    File.rm_rf!(folder)
    File.rename!(Path.join(work, "applications"), folder)
    File.rm_rf!(work)
    :ok
  end

  defp download(packages, work) do
    options = ["-o", "APT::Get::AllowUnauthenticated=false"]
    IO.puts("If apt-get knows no such packages: `apt-get update` brings the lists.")
    run("apt-get", options ++ ["download" | packages], cd: work)
  end

  defp take({name, version, package, subset}, work) do
    file = work |> Path.join("root/**/ebin/#{name}.app") |> Path.wildcard() |> List.first()
    properties = if file, do: properties(file), else: []
    found = properties[:vsn]

    if to_string(found) != version do
      Mix.raise(
        "#{package} of this Debian has #{name} #{found || "not at all"} instead of #{version}, which is Debian 12's"
      )
    end

    if subset != [], do: cut(file, name, properties, subset)

    # Without a version in the folder's name, as mix has it for what it built itself.
    application = file |> Path.dirname() |> Path.dirname()
    File.rename!(application, Path.join([work, "applications", Atom.to_string(name)]))
  end

  # Leaves a library of few modules, without a process of its own.
  defp cut(file, name, properties, subset) do
    for module <- properties[:modules], module not in subset[:modules] do
      file |> Path.dirname() |> Path.join("#{module}.beam") |> File.rm!()
    end

    properties =
      properties |> Keyword.take([:description, :vsn, :registered]) |> Keyword.merge(subset)

    File.write!(file, :io_lib.format("~tp.~n", [{:application, name, properties}]))
  end

  defp properties(file) do
    {:ok, [{:application, _name, properties}]} = :file.consult(file)
    properties
  end

  defp run(program, arguments, options) do
    options = [into: IO.stream(), stderr_to_stdout: true] ++ options

    case System.cmd(program, arguments, options) do
      {_output, 0} -> :ok
      {_output, status} -> Mix.raise("#{program} ended with status #{status}")
    end
  end
end
