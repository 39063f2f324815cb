module example.com/{{id}}

go 1.22
