# frozen_string_literal: true

# What each process has of what all processes share. Puma, database.yml and the upstream's client ask here.
module Capacity
  module_function

  # One for each CPU, since Ruby code runs in one thread of a process at a time. Each needs a database connection at
  # least.
  def processes
    Integer(ENV.fetch("CPUS", 1)).clamp(1, database_connections_in_all)
  end

  # Of each process, as in the config/puma.rb that Rails generates.
  def threads
    Integer(ENV.fetch("RAILS_MAX_THREADS", 3))
  end

  def database_connections
    database_connections_in_all / processes
  end

  def database_connections_in_all
    Integer(ENV.fetch("POOL_SIZE", 16))
  end
end
